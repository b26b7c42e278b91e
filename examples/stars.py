"""Stars: train a rating model on simulated reports, recommend, save and load."""

import polars as pl

from tacit import Rated, as_ratings, compile_channel, evaluate, fit, load, perturb
from tacit.metrics.split import at_random

stars, titles = pl.read_csv("stars.csv"), pl.read_csv("titles.csv")
data = as_ratings(stars, scale="1:5:1")
test = at_random(len(data), share=0.2, seed=0)
train, held_out = data.where(~test), data.where(test)
channel = compile_channel("optimal", epsilon=3, scale="1:5:1")
reports = perturb(train, Rated(channel), simulate_seed=0)
model = fit("mf", reports)
print(model.guarantee.sentence)
print(evaluate(model, train, held_out)["rmse"])
users = stars["user"][::4_000]
lists = model.recommend(users, 5, titles=titles, exclude=[1, 2], candidates=range(1, 101))
print(lists)
print(model.similar_items(7, n=3))
model.save("stars.model")
assert load("stars.model").recommend(users).equals(model.recommend(users))
