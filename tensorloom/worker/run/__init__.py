"""Steps of compiled pieces: rendezvous, resources, peers, errors."""
