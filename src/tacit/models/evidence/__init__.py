"""The input of all models: reports or ratings in one form, with presence features."""
