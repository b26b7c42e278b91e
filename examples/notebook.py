# ruff: noqa: B018, E402  # a cell shows what ends it, and imports what it is the first to need
# %% What leaves the devices, what is learnt from it, and one person's recommendations
from tacit import Profile, Rated, compile_channel, fit, item_model, perturb, synthetic

ratings = synthetic(n_users=300, n_items=200, n_ratings=15_000)  # true ratings, made up
channel = compile_channel("optimal", epsilon=1, scale=ratings.scale)  # its epsilon is proved
reports = perturb(ratings, Rated(channel))  # all that leaves the devices
fitted = fit("channel-mf", reports)  # the provider learns from reports
print(fitted.guarantee.sentence)

mine = {1: 5, 2: 3, 3: 1, 4: 4, 5: 2}  # one person's true ratings; they stay on the device
for item, rating in Profile(item_model(fitted), mine).recommend(5):
    print(item, round(rating, 2))

# %% What privacy costs, on a pandas frame such as pandas.read_csv("ratings.csv")
import pandas as pd

from tacit import compare

frame = pd.DataFrame(ratings.to_polars().to_dict(as_series=False))
found = compare(frame, models="bias,mf", epsilons=[0.5, 1, 3], scale="1:5:1")
found

# %% The same frame through the channel, and what the provider would recommend to all
fit("channel-mf", perturb(frame, Rated(channel))).recommend(frame["user"].unique(), n=5)
