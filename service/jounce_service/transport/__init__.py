"""The server's transports: gRPC, the fast lane, their security, and errors on the wire."""
