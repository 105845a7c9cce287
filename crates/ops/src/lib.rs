//! Every operation a user or agent can ask: plain data in and out.
