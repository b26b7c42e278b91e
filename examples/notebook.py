# ruff: noqa: B018, E402  # a cell displays its last expression and has imports of its own
# %% Reports, an item model, and recommendations on one device
from tacit import Profile, Rated, compile_channel, fit, item_model, perturb, synthetic

ratings = synthetic(n_users=300, n_items=200, n_ratings=15_000)  # synthetic true ratings
channel = compile_channel("optimal", epsilon=1, scale=ratings.scale)  # epsilon is verified
reports = perturb(ratings, Rated(channel))  # what the devices send
fitted = fit("channel-mf", reports)  # what the provider learns from them
print(fitted.guarantee.sentence)

mine = {1: 5, 2: 3, 3: 1, 4: 4, 5: 2}  # one user's true ratings, which stay on the device
for item, rating in Profile(item_model(fitted), mine).recommend(5):
    print(item, round(rating, 2))

# %% Accuracy against epsilon, for a pandas frame such as pandas.read_csv("ratings.csv")
import pandas as pd

from tacit import compare

frame = pd.DataFrame(ratings.to_polars().to_dict(as_series=False))
found = compare(frame, models="bias,mf", epsilons=[0.5, 1, 3], scale="1:5:1")
found

# %% The provider's recommendations from noisy reports on the same frame
fit("channel-mf", perturb(frame, Rated(channel))).recommend(frame["user"].unique(), n=5)
