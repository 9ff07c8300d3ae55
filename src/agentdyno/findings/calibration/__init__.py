"""How far a judge that is a model can be trusted: held against what people say of the same answers."""
