"""The single machine under faults: killed at any instant, disks that fail in each way, clocks that jump, no more files."""
