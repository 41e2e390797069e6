//! TCX: activities of laps of trackpoints.

use super::{
    Refused, Tracks,
    xml::{self, Listener},
};
use crate::fitness::{
    sport,
    track::{Point, Track, number},
};

pub(super) fn read(content: &[u8]) -> Result<Vec<Track>, Refused> {
    let mut tcx = Tcx::default();
    xml::walk(content, &mut tcx)?;
    Ok(tcx.tracks.done)
}

#[derive(Default)]
struct Tcx {
    tracks: Tracks,
    within: bool,
    point: Option<Point>,
    /// Whose `Value` comes next.
    of_heart: bool,
}

impl Listener for Tcx {
    fn begin(&mut self, name: &str, attribute: &dyn Fn(&str) -> Option<String>) -> Result<(), Refused> {
        match name {
            "Activity" => {
                self.within = true;
                self.tracks.begin()?;
                if let Some(track) = self.tracks.current() {
                    track.sport = sport::of(&attribute("Sport").unwrap_or_default());
                }
            }
            "Trackpoint" if self.within => {
                self.tracks.count()?;
                self.point = Some(Point::default());
            }
            "HeartRateBpm" => self.of_heart = true,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str, text: &str) -> Result<(), Refused> {
        match (name, &mut self.point, self.tracks.current()) {
            ("HeartRateBpm", ..) => self.of_heart = false,
            ("Activity", ..) => self.within = false,
            ("Trackpoint", point, Some(track)) => track.points.extend(point.take()),
            ("Time", Some(point), _) => point.set_time(text),
            ("LatitudeDegrees", Some(point), _) => point.latitude = number(text),
            ("LongitudeDegrees", Some(point), _) => point.longitude = number(text),
            ("AltitudeMeters", Some(point), _) => point.altitude = number(text),
            ("DistanceMeters", Some(point), _) => point.distance = number(text),
            ("Value", Some(point), _) if self.of_heart => point.set_heart_rate(number(text)),
            ("Cadence" | "RunCadence", Some(point), _) => point.set_cadence(number(text)),
            ("Watts", Some(point), _) => point.set_power(number(text)),
            // laps add up
            ("Calories", None, Some(track)) if self.within => track.burn(number(text)),
            ("Notes", None, Some(track)) if self.within => track.name = Some(text.to_owned()),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_activity_has_its_points_and_the_calories_of_its_laps() {
        let point = "<Track><Trackpoint><Time>2026-03-14T06:00:00Z</Time><Position><LatitudeDegrees>1.5</LatitudeDegrees>\
            <LongitudeDegrees>2.5</LongitudeDegrees></Position><AltitudeMeters>7</AltitudeMeters>\
            <DistanceMeters>12.5</DistanceMeters><HeartRateBpm><Value>150</Value></HeartRateBpm><Cadence>80</Cadence>\
            <Extensions><ns3:TPX><ns3:Watts>200</ns3:Watts></ns3:TPX></Extensions></Trackpoint></Track>";
        let lap = format!(
            "<Lap><DistanceMeters>9</DistanceMeters><Calories>100</Calories><AverageHeartRateBpm><Value>9</Value>\
             </AverageHeartRateBpm>{point}</Lap>"
        );
        let tcx = format!(
            "<TrainingCenterDatabase><Activities><Activity Sport=\"Biking\"><Id>x</Id>{lap}{lap}<Notes>Long one</Notes>\
             </Activity></Activities></TrainingCenterDatabase>"
        );
        let tracks = read(tcx.as_bytes()).unwrap();
        let track = &tracks[0];
        assert_eq!(
            (track.sport.as_str(), track.name.as_deref(), track.calories),
            ("ride", Some("Long one"), Some(200))
        );
        let expected = Point {
            at: Some(1_773_468_000_000),
            latitude: Some(1.5),
            longitude: Some(2.5),
            altitude: Some(7.0),
            distance: Some(12.5),
            heart_rate: Some(150),
            cadence: Some(80),
            power: Some(200),
            resumes: false,
        };
        assert_eq!(track.points, [expected.clone(), expected]);
    }
}
