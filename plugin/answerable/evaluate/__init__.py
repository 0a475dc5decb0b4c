"""Run a gold set of questions; from its verdicts report, gate releases and calibrate floors."""
