"""The only place with SQL: schema, writer, reader. Returns model objects, never rows."""
