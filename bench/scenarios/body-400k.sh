# requests per core: 400 KB prompts, 16 connections (reported, no bar)
load_options='--connections 16 --body 400000'
pairs=5
