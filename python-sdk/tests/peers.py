"""Runs one scripted peer: `python peers.py NAME`."""

from __future__ import annotations

import sys

import peers_of_answers
import peers_of_facts
from peer_kit import PEERS, Peer

SOURCES = (peers_of_answers, peers_of_facts)
"""Where the peers are; importing them is what names them."""

if __name__ == "__main__":
    PEERS[sys.argv[1]](Peer())
