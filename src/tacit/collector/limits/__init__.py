"""Rate limits per token and epoch, unlinkable to the stored reports."""
