"""`Session.run`: from fetches and feeds to a prepared step and its results."""
