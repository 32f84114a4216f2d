# processor time per request: Anthropic messages at a chat provider, against the same as chat; 1 KB
load_options='--connections 64 --body 1024'
contender=translated rivals=queqiao
metric=cpu_us_per_request mode=cost
must='<= 2'
turn_ms=50
