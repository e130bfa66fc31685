"""The planar half car of Ikoki 2022: two wheels that roll or slide by one of four traction laws."""
