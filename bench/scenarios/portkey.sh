# requests per core against the Portkey gateway: 1 KB requests, 16 connections
load_options='--connections 16 --body 1024 --warmup 2'
rivals=portkey noise_floor=no
must='>= 100' aim='>= 150'
seconds=2
