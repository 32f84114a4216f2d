# requests per core: 1 KB requests, 64 connections
load_options='--connections 64 --body 1024'
must='>= 1.15' aim='>= 1.35'
turn_ms=50
