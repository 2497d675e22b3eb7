"""From what is stored to verdicts: facts, prompts, baselines, one session at a time."""
