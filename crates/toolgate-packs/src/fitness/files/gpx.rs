//! GPX: tracks of points. Heart rate, cadence and power are in the extensions that watches write.

use super::{
    Refused, Tracks,
    xml::{self, Listener},
};
use crate::fitness::{
    sport,
    track::{Point, Track, number},
};

pub(super) fn read(content: &[u8]) -> Result<Vec<Track>, Refused> {
    let mut gpx = Gpx::default();
    xml::walk(content, &mut gpx)?;
    Ok(gpx.tracks.done)
}

#[derive(Default)]
struct Gpx {
    tracks: Tracks,
    within: bool,
    /// A further segment of the track has begun.
    resumes: bool,
    point: Option<Point>,
}

impl Listener for Gpx {
    fn begin(&mut self, name: &str, attribute: &dyn Fn(&str) -> Option<String>) -> Result<(), Refused> {
        match name {
            "trk" => {
                self.within = true;
                self.tracks.begin()?;
            }
            "trkseg" if self.within => {
                self.resumes = self.tracks.current().is_some_and(|track| !track.points.is_empty());
            }
            "trkpt" if self.within => {
                self.tracks.count()?;
                let resumes = std::mem::take(&mut self.resumes);
                let degrees = |name| attribute(name).and_then(|text| number(&text));
                let point = Point { latitude: degrees("lat"), longitude: degrees("lon"), resumes, ..Point::default() };
                self.point = Some(point);
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str, text: &str) -> Result<(), Refused> {
        if name == "trkpt" {
            if let (Some(point), Some(track)) = (self.point.take(), self.tracks.current()) {
                track.points.push(point);
            }
            return Ok(());
        }
        if let Some(point) = &mut self.point {
            match name {
                "ele" => point.altitude = number(text),
                "time" => point.set_time(text),
                "hr" => point.set_heart_rate(number(text)),
                "cad" => point.set_cadence(number(text)),
                "power" | "PowerInWatts" => point.set_power(number(text)),
                _ => {}
            }
            return Ok(());
        }
        match (name, self.tracks.current().filter(|_| self.within)) {
            ("name", Some(track)) => track.name = Some(text.to_owned()),
            ("type", Some(track)) => track.sport = sport::of(text),
            ("trk", _) => self.within = false,
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_have_what_the_file_says_of_them() {
        let gpx = br#"<gpx><metadata><name>no</name><time>2020-01-01T00:00:00Z</time></metadata>
            <trk><name>Morning run</name><type>running</type><trkseg>
            <trkpt lat="36.12" lon="-86.67"><ele>100.5</ele><time>2026-03-14T06:00:00.500Z</time>
              <extensions><power>210</power><gpxtpx:TrackPointExtension><gpxtpx:hr>140</gpxtpx:hr><gpxtpx:cad>85</gpxtpx:cad>
              </gpxtpx:TrackPointExtension></extensions></trkpt>
            <trkpt lat="91" lon="NaN"/></trkseg></trk><wpt lat="1" lon="1"/></gpx>"#;
        let tracks = read(gpx).unwrap();
        assert_eq!(tracks.len(), 1);
        assert_eq!((tracks[0].name.as_deref(), tracks[0].sport.as_str()), (Some("Morning run"), "run"));
        let full = Point {
            at: Some(1_773_468_000_500),
            latitude: Some(36.12),
            longitude: Some(-86.67),
            altitude: Some(100.5),
            heart_rate: Some(140),
            cadence: Some(85),
            power: Some(210),
            distance: None,
            resumes: false,
        };
        assert_eq!(tracks[0].points, [full, Point { latitude: Some(91.0), ..Point::default() }]);
    }

    #[test]
    fn the_first_point_of_a_further_segment_resumes_the_track() {
        let gpx = b"<gpx><trk><trkseg><trkpt lat='1' lon='1'/><trkpt lat='1' lon='1'/></trkseg>
            <trkseg><trkpt lat='2' lon='2'/><trkpt lat='2' lon='2'/></trkseg></trk></gpx>";
        let resumes: Vec<bool> = read(gpx).unwrap()[0].points.iter().map(|point| point.resumes).collect();
        assert_eq!(resumes, [false, false, true, false]);
    }
}
