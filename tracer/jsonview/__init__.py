"""The JSON contract (docs/json.md): views of the use cases as objects of JSON."""
