"""Who may what: every way around the policy, and what happens when the policy changes under those who are there."""
