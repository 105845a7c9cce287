mod scores;
mod terms;
mod tokens;
