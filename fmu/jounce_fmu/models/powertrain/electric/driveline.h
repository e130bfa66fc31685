/* The numbers of the motors stand behind those that every powertrain has. */
enum { JN_N_D = D_DRIVELINE + JN_MOTOR_N };
