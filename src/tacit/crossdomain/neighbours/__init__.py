"""What all systems that go by neighbours share: profiles, how alike they are, and predictions."""
