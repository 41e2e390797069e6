//! Activity files as tracks: GPX, TCX and FIT, each within bounds that a hostile file can't widen.

mod fit;
mod gpx;
#[cfg(test)]
mod growth_tests;
mod tcx;
mod xml;

use super::{sport, track::Track};

/// Of one file.
pub(super) const MOST_BYTES: usize = 16 << 20;
/// Of one file, all tracks together.
const MOST_POINTS: usize = 200_000;
/// In one file.
const MOST_TRACKS: usize = 50;

/// Why a file is no activity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error("it is neither a .gpx, a .tcx nor a .fit file")]
    Kind,
    #[error("it is larger than {} MiB", MOST_BYTES >> 20)]
    TooLarge,
    #[error("it has more than {MOST_POINTS} points")]
    TooManyPoints,
    #[error("it has more than {MOST_TRACKS} tracks")]
    TooManyTracks,
    #[error("it can't be read: {0}")]
    Broken(String),
    #[error("it has no track with times")]
    Empty,
    #[error("it starts or ends at an impossible time")]
    Time,
    #[error("its data is not base64")]
    Base64,
    #[error("it can't be opened")]
    Unopened,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gpx,
    Tcx,
    Fit,
}

/// Whether a name is that of an activity file.
pub(super) fn is_named(name: &str) -> bool {
    kind(name).is_some()
}

fn kind(name: &str) -> Option<Kind> {
    let (stem, extension) = name.rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        _ if stem.is_empty() => None,
        "gpx" => Some(Kind::Gpx),
        "tcx" => Some(Kind::Tcx),
        "fit" => Some(Kind::Fit),
        _ => None,
    }
}

/// The tracks of a file, at least one. Blocks for as long as reading takes.
pub(super) fn read(name: &str, content: &[u8]) -> Result<Vec<Track>, Refused> {
    let kind = kind(name).ok_or(Refused::Kind)?;
    if content.len() > MOST_BYTES {
        return Err(Refused::TooLarge);
    }
    let mut tracks = match kind {
        Kind::Gpx => gpx::read(content)?,
        Kind::Tcx => tcx::read(content)?,
        Kind::Fit => fit::read(content)?,
    };
    tracks.iter_mut().for_each(Track::settle);
    tracks.retain(|track| track.points.len() >= 2);
    match tracks.as_slice() {
        [] => Err(Refused::Empty),
        tracks if !tracks.iter().all(Track::is_possible) => Err(Refused::Time),
        _ => Ok(tracks),
    }
}

/// Tracks while a file is read, with what all formats must keep to.
#[derive(Default)]
struct Tracks {
    done: Vec<Track>,
    points: usize,
}

impl Tracks {
    fn begin(&mut self) -> Result<(), Refused> {
        if self.done.len() >= MOST_TRACKS {
            return Err(Refused::TooManyTracks);
        }
        self.done.push(Track { sport: sport::OTHER.to_owned(), ..Track::default() });
        Ok(())
    }

    fn current(&mut self) -> Option<&mut Track> {
        self.done.last_mut()
    }

    fn count(&mut self) -> Result<(), Refused> {
        self.points += 1;
        if self.points > MOST_POINTS { Err(Refused::TooManyPoints) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_name() {
        for name in ["a.gpx", "A.GPX", "x.y.tcx", "b.Fit"] {
            assert!(is_named(name), "{name}");
        }
        for name in ["", "gpx", ".gpx", "a.gpx.gz", "a.fit ", "a.csv", "a."] {
            assert!(!is_named(name), "{name}");
            assert_eq!(read(name, b""), Err(Refused::Kind), "{name}");
        }
    }

    #[test]
    fn what_is_too_large_is_not_looked_into() {
        assert_eq!(read("a.gpx", &vec![b' '; MOST_BYTES + 1]), Err(Refused::TooLarge));
    }

    #[test]
    fn too_many_points_and_tracks_are_refused() {
        let many = format!("<gpx><trk>{}</trk></gpx>", "<trkpt lat='1' lon='1'/>".repeat(MOST_POINTS + 1));
        assert_eq!(read("a.gpx", many.as_bytes()), Err(Refused::TooManyPoints));
        let many = format!("<gpx>{}</gpx>", "<trk></trk>".repeat(MOST_TRACKS + 1));
        assert_eq!(read("a.gpx", many.as_bytes()), Err(Refused::TooManyTracks));
    }

    #[test]
    fn what_is_no_such_file_is_broken_or_empty_and_never_a_panic() {
        for name in ["a.gpx", "a.tcx", "a.fit"] {
            for content in
                [&b""[..], b"<", b"<a", b"\xff\xfe\x00", b"<gpx><trk><trkpt lat='x'", b"not a file", &[0; 64]]
            {
                assert!(matches!(read(name, content), Err(Refused::Broken(_) | Refused::Empty)), "{name} {content:?}");
            }
        }
    }
}
