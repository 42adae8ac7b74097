#!/bin/sh
# Offload-friendly filters of a small gateway: services that are let in from
# the outside go to the inside, bogus sources are dropped, the rest is left to
# the host. Usage: gateway.sh TC WAN LAN, for example
#
#   sh gateway.sh 'verdict tc' eth0 eth1
set -e
tc=${1:-tc} wan=${2:-wan} lan=${3:-lan}
services="80 443 8443"

$tc qdisc add dev "$wan" clsact
pref=10
for net in 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 127.0.0.0/8; do
	$tc filter add dev "$wan" ingress protocol ip pref $pref flower src_ip $net action drop
	pref=$((pref + 1))
done
for port in $services; do
	$tc filter add dev "$wan" ingress protocol ip pref 100 flower ip_proto tcp dst_port "$port" \
		action mirred egress redirect dev "$lan"
done
$tc filter add dev "$wan" ingress protocol all pref 200 matchall action ok
