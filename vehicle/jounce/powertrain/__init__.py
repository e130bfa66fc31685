"""From the pedals to the half shafts: engine, torque converter, gearbox, transfer case, differentials, pawl."""
