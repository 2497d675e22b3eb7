"""The agents' own rules over stored sessions: what a rule sees, and keeping what it found."""
