"""`six.moves`: modules of Python's library under the names of both versions."""

from __future__ import annotations

import builtins
import collections
import configparser
import copyreg
import functools
import html
import html.entities
import html.parser
import http.client
import http.cookies
import http.server
import io
import itertools
import pickle
import queue
import socketserver
import sys
import urllib
import urllib.error
import urllib.parse
import urllib.request
import urllib.response
import urllib.robotparser

# Programs import these from here; some are imported as modules.
cPickle, cStringIO, StringIO = pickle, io.StringIO, io.StringIO
UserDict, UserList, UserString = (
    collections.UserDict,
    collections.UserList,
    collections.UserString,
)
filter, input, map, range, xrange, zip = (
    builtins.filter,
    builtins.input,
    builtins.map,
    builtins.range,
    builtins.range,
    builtins.zip,
)
filterfalse, zip_longest = itertools.filterfalse, itertools.zip_longest
getcwd, getcwdb = __import__("os").getcwd, __import__("os").getcwdb
intern, reduce = sys.intern, functools.reduce
reload_module = __import__("importlib").reload
shlex_quote = __import__("shlex").quote
http_client, http_cookies = http.client, http.cookies
html_entities, html_parser = html.entities, html.parser
BaseHTTPServer = SimpleHTTPServer = http.server

# Their own names under which they are imported too.
SUBMODULES = {
    "builtins": builtins,
    "cPickle": pickle,
    "configparser": configparser,
    "copyreg": copyreg,
    "html_entities": html.entities,
    "html_parser": html.parser,
    "http_client": http.client,
    "http_cookies": http.cookies,
    "queue": queue,
    "socketserver": socketserver,
    "urllib": urllib,
    "urllib.error": urllib.error,
    "urllib.parse": urllib.parse,
    "urllib.request": urllib.request,
    "urllib.response": urllib.response,
    "urllib.robotparser": urllib.robotparser,
}
