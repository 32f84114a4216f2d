# processor time per event: Anthropic messages at a chat provider, against the same as chat; paced
upstream=paced
load_options='--stream --connections 256 --ramp 1 --warmup 1.2'
contender=translated rivals=queqiao
metric=cpu_us_per_delta mode=cost
must='<= 1.5'
slices=2
pairs=21
