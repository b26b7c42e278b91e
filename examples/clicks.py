"""Clicks: train a top-N model on simulated reports, recommend, save and load."""

import polars as pl

from tacit import Catalogue, as_ratings, compile_channel, evaluate, fit, load, perturb
from tacit.metrics.split import at_random

clicks, titles = pl.read_csv("clicks.csv"), pl.read_csv("titles.csv")
data = as_ratings(clicks, scale="there")  # a click is a rating on a scale of one level
test = at_random(len(data), share=0.2, seed=0)
train, held_out = data.where(~test), data.where(test)
channel = compile_channel("randomized-response", epsilon=4, scale="there", missing=True)
reports = perturb(train, Catalogue(channel), simulate_seed=0)
model = fit("ease", reports)
print(model.guarantee.sentence)
print(evaluate(model, train, held_out)["ndcg_at_20"])
users = clicks["user"][::4_000]
lists = model.recommend(users, 5, titles=titles, exclude=[1, 2], candidates=range(1, 101))
print(lists)
print(model.similar_items(7, n=3))
model.save("clicks.model")
assert load("clicks.model").recommend(users).equals(model.recommend(users))
