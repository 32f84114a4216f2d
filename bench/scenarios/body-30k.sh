# requests per core: 30 KB requests, 64 connections
load_options='--connections 64 --body 30000'
must='>= 0.9' aim='>= 1.1'
turn_ms=50
