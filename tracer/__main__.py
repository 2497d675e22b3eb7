"""`python -m tracer` is the console script `tracer`."""

from tracer.cli import main

if __name__ == "__main__":
    main(prog_name="tracer")
