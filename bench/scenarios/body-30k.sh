# requests per core: 30 KB requests, 64 connections
load_options='--connections 64 --body 30000'
must='>= 0.9' aim='>= 1.1'
slices=6 slice_options='--warmup 0.2'
