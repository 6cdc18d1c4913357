nobase_dist_doc_DATA += conf/tegula.env conf/tegula.logrotate conf/tegula.service conf/tegula.socket
