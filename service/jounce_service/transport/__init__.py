"""How requests come in: gRPC, the fast lane, their security and their errors."""
