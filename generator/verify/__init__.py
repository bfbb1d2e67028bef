"""The verifier, which derives every stored value again and shares no code with the solver."""
