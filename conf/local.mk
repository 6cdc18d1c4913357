EXTRA_DIST += conf/tegula.env conf/tegula.service conf/tegula.socket
