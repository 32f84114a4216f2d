# processor time per event: 256 streams, an event each 20 ms
upstream=paced
load_options='--stream --connections 256 --ramp 1 --warmup 1.2'
metric=cpu_us_per_event mode=cost
must='<= 0.9' aim='<= 0.7'
seconds=3
slices=2
pairs=21
