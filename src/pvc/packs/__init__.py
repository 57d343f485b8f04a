"""The packs that ship with pvc, in our own words; data only."""
