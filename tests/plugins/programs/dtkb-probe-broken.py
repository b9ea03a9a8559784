#!/usr/bin/env python3
raise SystemExit("a module is missing")
