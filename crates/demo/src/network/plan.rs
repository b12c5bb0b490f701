//! The plan of the network: where each substation stands and which pipe feeds it.
//!
//! The town is fictional and lies near 44.8125 N, 20.4612 E. Places follow from pipe lengths and
//! bearings, so that the map and the hydraulics cannot disagree.

use weir_model::Place;

/// How many substations the plant feeds.
pub const SUBSTATIONS: usize = 12;

/// One substation and the double pipe (supply and return) that ends at it.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// The substation the pipe comes from; `None` is the plant. Always earlier in [`PLAN`].
    pub parent: Option<usize>,
    /// Length of the pipe in metres.
    pub length_m: f64,
    /// Bearing of the pipe in degrees, clockwise from north.
    pub bearing_deg: f64,
    /// Inner diameter in metres.
    pub diameter_m: f64,
    /// Heat the substation is built for, in kilowatts.
    pub design_kw: f64,
}

const fn branch(
    parent: Option<usize>,
    length_m: f64,
    bearing_deg: f64,
    diameter_m: f64,
    design_kw: f64,
) -> Branch {
    Branch {
        parent,
        length_m,
        bearing_deg,
        diameter_m,
        design_kw,
    }
}

/// The tree of pipes: a northern, an eastern and a southern trunk. Substation 1 is entry 0.
pub const PLAN: [Branch; SUBSTATIONS] = [
    branch(None, 420.0, 340.0, 0.150, 900.0),
    branch(Some(0), 310.0, 10.0, 0.150, 650.0),
    branch(Some(1), 380.0, 350.0, 0.100, 800.0),
    branch(Some(1), 260.0, 70.0, 0.065, 450.0),
    branch(Some(2), 440.0, 30.0, 0.080, 550.0),
    branch(None, 520.0, 85.0, 0.150, 1200.0),
    branch(Some(5), 350.0, 110.0, 0.125, 700.0),
    branch(Some(6), 290.0, 60.0, 0.080, 500.0),
    branch(Some(6), 410.0, 150.0, 0.080, 600.0),
    branch(None, 360.0, 200.0, 0.150, 1000.0),
    branch(Some(9), 450.0, 230.0, 0.100, 750.0),
    branch(Some(9), 330.0, 165.0, 0.100, 850.0),
];

/// Where the plant stands.
pub const PLANT: Place = Place {
    latitude: 44.8125,
    longitude: 20.4612,
};

const METRES_PER_DEGREE: f64 = 111_320.0;

/// Where a substation stands, to six decimals of a degree.
pub fn place(substation: usize) -> Place {
    let branch = &PLAN[substation];
    let from = branch.parent.map_or(PLANT, place);
    let bearing = branch.bearing_deg.to_radians();
    let north = branch.length_m * bearing.cos() / METRES_PER_DEGREE;
    let east =
        branch.length_m * bearing.sin() / METRES_PER_DEGREE / from.latitude.to_radians().cos();
    let round = |degrees: f64| (degrees * 1e6).round() / 1e6;
    Place {
        latitude: round(from.latitude + north),
        longitude: round(from.longitude + east),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pipe_comes_from_an_earlier_one() {
        for (index, branch) in PLAN.iter().enumerate() {
            assert!(branch.parent.is_none_or(|parent| parent < index));
        }
    }

    #[test]
    fn a_pipe_is_as_long_as_the_map_says() {
        for (index, branch) in PLAN.iter().enumerate() {
            let (from, to) = (branch.parent.map_or(PLANT, place), place(index));
            let north = (to.latitude - from.latitude) * METRES_PER_DEGREE;
            let east = (to.longitude - from.longitude)
                * METRES_PER_DEGREE
                * from.latitude.to_radians().cos();
            assert!(
                (north.hypot(east) - branch.length_m).abs() < 0.5,
                "substation {index}"
            );
        }
    }
}
