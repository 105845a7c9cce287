//! Reads files of the working tree as git would commit them.
//!
//! A checkout may have other line endings or another encoding than the commit. Undoing that here gives an unchanged
//! file the id it has in the commit, and all positions those of the committed text.

use std::path::{Path, PathBuf};

use gix::{
    filter::plumbing::pipeline::{self, CrlfRoundTripCheck, convert::ToGitOutcome},
    objs::{Find, Kind},
    worktree,
};

use crate::{Checkout, Error, Result, work_tree::read_inside};

/// Not shared between threads; it reads `.gitattributes` as it goes, fastest in the order of paths.
pub struct WorkReader {
    top: PathBuf,
    objects: gix::OdbHandle,
    index: worktree::IndexPersistedOrInMemory,
    pipeline: gix::filter::plumbing::Pipeline,
    attributes: worktree::Stack,
}

impl Checkout {
    /// A handle for one thread that reads the working tree; none in a bare repository.
    pub fn work_reader(&self) -> Result<Option<WorkReader>> {
        let repo = self.local();
        let Some(top) = self.work_dir() else { return Ok(None) };
        let filters =
            repo.filter_pipeline(None).map_err(Error::git("read the filters of the working tree"))?;
        let (mut pipeline, attributes) = filters.0.into_parts();
        without_programs(pipeline.options_mut());
        let (top, index) = (top.to_owned(), filters.1);
        Ok(Some(WorkReader { top, objects: repo.objects, index, pipeline, attributes }))
    }
}

impl WorkReader {
    /// The content of a file; none when it is gone, is no file, or is reached through a symbolic link.
    ///
    /// Filters that are programs are not run: such a file is given as it lies there.
    pub fn read(&mut self, path: &str) -> Result<Option<Vec<u8>>> {
        let Some(content) = read_inside(&self.top, path)? else { return Ok(None) };
        let converted = self.converted(Path::new(path), &content);
        // What cannot be converted, for example text that is not in the stated encoding, is better read as it is.
        Ok(Some(converted.ok().flatten().unwrap_or(content)))
    }

    /// None when nothing has to be changed.
    fn converted(&mut self, path: &Path, content: &[u8]) -> gix::Result<Option<Vec<u8>>> {
        let WorkReader { objects, index, pipeline, attributes, .. } = self;
        let place = attributes.at_path(path, None, &*objects).map_err(gix::Error::from_error)?;
        let outcome = pipeline.convert_to_git(
            content,
            path,
            &mut |_, found| {
                place.matching_attributes(found);
            },
            &mut |buffer| {
                let name = gix::path::to_unix_separators_on_windows(gix::path::into_bstr(path)?);
                let Some(entry) = index.entry_by_path(name.as_ref()) else { return Ok(None) };
                let found = objects.try_find(&entry.id, buffer)?;
                Ok(found.filter(|it| it.kind == Kind::Blob).map(|_| ()))
            },
        )?;
        Ok(match outcome {
            ToGitOutcome::Buffer(converted) => Some(converted.to_vec()),
            ToGitOutcome::Unchanged(_) | ToGitOutcome::Process(_) => None,
        })
    }
}

fn without_programs(options: &mut pipeline::Options) {
    options.drivers.clear();
    // These checks are for writers; a reader takes what there is.
    options.crlf_roundtrip_check = CrlfRoundTripCheck::Skip;
    options.encodings_with_roundtrip_check.clear();
}
