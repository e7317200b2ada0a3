# Generated from schema/src by `make gen`: do not edit.
"""Types and tables of the protocol, generated from its schema."""
