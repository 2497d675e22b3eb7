"""From events to requests with whole prompts. Pure: no I/O, no clock.

`windows` undoes the log's windows, `usage` normalises what was billed, `attempts` groups retries
and assigns lanes, `joins` ties log lines to requests.
"""
