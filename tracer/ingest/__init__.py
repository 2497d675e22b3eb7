"""The I/O shell of reading: discovery, tailing, batches, counting.

Everything of a batch (content, records, the file's offset) is one transaction, so a killed process
leaves no half record, loses nothing that was reported as stored, and reads the rest next time.
"""

from tracer.ingest.discover import default_root, find_files, left_out
from tracer.ingest.run import IngestOptions, Ingestor

__all__ = ["IngestOptions", "Ingestor", "default_root", "find_files", "left_out"]
