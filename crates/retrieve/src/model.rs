//! The learned ranker that is built in.

use std::sync::OnceLock;

use crate::ranker::Model;

/// The model file as it stands in the repository.
pub(crate) fn text() -> &'static str {
    include_str!("../model/ranker.txt")
}

/// Parsed once a process.
pub(crate) fn built_in() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| Model::parse(text()).expect("a test reads the model file"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_model_was_trained_on_these_features() {
        let model = crate::ranker::Model::parse(super::text()).unwrap();
        assert_eq!(model.features(), crate::features::NAMES, "train the model again: see training/README.md");
    }
}
