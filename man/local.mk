dist_man_MANS += man/tegula.8
