package catalog

// serviceSymbols are the names of ports that rulesets use. The first name of
// a port is the one that listings show; the last rows are further names.
// Ref: IANA, Service Name and Transport Protocol Port Number Registry.
var serviceSymbols = []Symbol{
	{"tcpmux", 1}, {"echo", 7}, {"discard", 9}, {"systat", 11}, {"daytime", 13}, {"qotd", 17}, {"chargen", 19},
	{"ftp-data", 20}, {"ftp", 21}, {"ssh", 22}, {"telnet", 23}, {"smtp", 25}, {"time", 37}, {"whois", 43},
	{"tacacs", 49}, {"domain", 53}, {"bootps", 67}, {"bootpc", 68}, {"tftp", 69}, {"gopher", 70}, {"finger", 79},
	{"http", 80}, {"kerberos", 88}, {"iso-tsap", 102}, {"pop3", 110}, {"sunrpc", 111}, {"auth", 113},
	{"nntp", 119}, {"ntp", 123}, {"epmap", 135}, {"netbios-ns", 137}, {"netbios-dgm", 138}, {"netbios-ssn", 139},
	{"imap2", 143}, {"snmp", 161}, {"snmp-trap", 162}, {"xdmcp", 177}, {"bgp", 179}, {"smux", 199}, {"ipx", 213},
	{"ptp-event", 319}, {"ptp-general", 320}, {"ldap", 389}, {"svrloc", 427}, {"https", 443},
	{"microsoft-ds", 445}, {"kpasswd", 464}, {"submissions", 465}, {"isakmp", 500}, {"exec", 512}, {"login", 513},
	{"shell", 514}, {"printer", 515}, {"talk", 517}, {"ntalk", 518}, {"route", 520}, {"uucp", 540},
	{"klogin", 543}, {"kshell", 544}, {"dhcpv6-client", 546}, {"dhcpv6-server", 547}, {"afpovertcp", 548},
	{"rtsp", 554}, {"nntps", 563}, {"submission", 587}, {"asf-rmcp", 623}, {"ipp", 631}, {"ldaps", 636},
	{"ldp", 646}, {"tinc", 655}, {"kerberos-adm", 749}, {"domain-s", 853}, {"rsync", 873}, {"ftps-data", 989},
	{"ftps", 990}, {"telnets", 992}, {"imaps", 993}, {"pop3s", 995}, {"socks", 1080}, {"rmiregistry", 1099},
	{"openvpn", 1194}, {"ms-sql-s", 1433}, {"ms-sql-m", 1434}, {"l2f", 1701}, {"radius", 1812},
	{"radius-acct", 1813}, {"cisco-sccp", 2000}, {"nfs", 2049}, {"cvspserver", 2401}, {"dict", 2628},
	{"gds-db", 3050}, {"icpv2", 3130}, {"isns", 3205}, {"iscsi-target", 3260}, {"mysql", 3306},
	{"ms-wbt-server", 3389}, {"nut", 3493}, {"distcc", 3632}, {"svn", 3690}, {"sieve", 4190}, {"epmd", 4369},
	{"ntske", 4460}, {"ipsec-nat-t", 4500}, {"iax", 4569}, {"munin", 4949}, {"sip", 5060}, {"sip-tls", 5061},
	{"xmpp-client", 5222}, {"xmpp-server", 5269}, {"mdns", 5353}, {"postgresql", 5432}, {"nrpe", 5666},
	{"amqps", 5671}, {"amqp", 5672}, {"x11", 6000}, {"gnutella-svc", 6346}, {"redis", 6379}, {"syslog-tls", 6514},
	{"ircd", 6667}, {"babel", 6696}, {"ircs-u", 6697}, {"http-alt", 8080}, {"puppet", 8140}, {"bacula-dir", 9101},
	{"bacula-fd", 9102}, {"bacula-sd", 9103}, {"git", 9418}, {"webmin", 10000}, {"zabbix-agent", 10050},
	{"zabbix-trapper", 10051}, {"nbd", 10809}, {"hkp", 11371},
	{"sink", 9}, {"null", 9}, {"mail", 25}, {"nicname", 43}, {"www", 80}, {"kerberos5", 88}, {"krb5", 88},
	{"pop-3", 110}, {"portmapper", 111}, {"ident", 113}, {"loc-srv", 135}, {"imap", 143}, {"snmptrap", 162},
	{"cmd", 514}, {"syslog", 514}, {"spooler", 515}, {"biff", 512}, {"who", 513}, {"router", 520}, {"ssmtp", 465},
	{"smtps", 465}, {"snntp", 563}, {"l2tp", 1701}, {"radacct", 1813}, {"gds_db", 3050}, {"icp", 3130},
	{"subversion", 3690}, {"jabber-client", 5222}, {"jabber-server", 5269}, {"postgres", 5432},
	{"webcache", 8080},
}
