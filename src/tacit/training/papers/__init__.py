"""Trainers as published by Xian et al. and Berlioz et al., with the printed claims."""
