#!/bin/sh
# `git pack-objects` as the host calls it, but for its wish to name the bases of deltas by their place in the pack.
for word; do
  shift
  [ "$word" = --delta-base-offset ] || set -- "$@" "$word"
done
exec "$@"
