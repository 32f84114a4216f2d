# median latency at 1,000 requests a second (open loop, in turns) minus nginx's, in us
load_options='--connections 64 --rate 1000 --body 1024'
metric=p50_us mode=added rivals='nginx haproxy direct'
must='<= 20' aim='<= 5'
pairs=21
seconds=2
turn_ms=50
