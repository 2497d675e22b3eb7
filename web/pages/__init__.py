"""The pages, a module each. A module with `ROUTES` and no leading underscore is served."""
