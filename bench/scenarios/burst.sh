# processor time per stream: 50 events in one upstream write, 64 connections
load_options='--stream --connections 64'
mode=cost
must='<= 1.3' aim='<= 1.0'
turn_ms=50
